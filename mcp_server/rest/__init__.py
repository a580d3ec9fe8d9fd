"""The REST interface: /api/v1/tools over the same tools and the same gate, and its OpenAPI document."""
