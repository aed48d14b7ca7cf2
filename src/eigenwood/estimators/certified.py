"""A certificate that is made when it is read: what it needs is kept, the claims are not written before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from eigenwood.proofs.claim import Certificate


class CertifiedWhenRead:
    """Gives an estimator ``certificate_``; its ``fit`` hands over the function that makes it.

    >>> class Model(CertifiedWhenRead):
    ...     pass
    >>> model = Model()
    >>> hasattr(model, "certificate_")
    False
    >>> model.certify_when_read(lambda: Certificate(()))
    >>> model.certificate_ == Certificate(())
    True
    """

    def certify_when_read(self, make: Callable[[], Certificate]) -> None:
        """Let ``make`` be called whenever the certificate is read; a ``partial`` pickles."""
        self._certify = make

    @property
    def certificate_(self) -> Certificate:
        """The claims about the fit; to read them changes nothing in the model."""
        make = vars(self).get("_certify")
        if make is None:
            raise AttributeError(f"{type(self).__name__} has no certificate_ before fit")
        return make()

    @certificate_.setter
    def certificate_(self, certificate: Certificate) -> None:
        self._certify = partial(Certificate, tuple(certificate))
