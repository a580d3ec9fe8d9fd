"""HTTP of the web host: middleware, handlers, request data, sessions, rate limits, drawings, units of work."""
