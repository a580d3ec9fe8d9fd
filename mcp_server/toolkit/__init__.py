"""All that the author of a tool imports: the decorator, the call's context, parameter types, results, refusals."""
