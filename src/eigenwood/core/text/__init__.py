"""Words of documents, and how often they occur."""
