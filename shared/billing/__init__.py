"""How plans are paid: a door for each way, and what settles an account's plan.

`registry` names the doors and the one the settings choose; `contract` says what a door does. `manual` sells nothing:
the operator sets plans by command. What a payment service says of a customer's subscriptions becomes a plan in
`settle`, and nowhere else. Card data never comes here: people pay on pages of the payment service.
"""
