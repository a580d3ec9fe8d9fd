"""HTTP of the web host: middleware, handlers, request data, sessions, rate limits, a request's unit of work."""
