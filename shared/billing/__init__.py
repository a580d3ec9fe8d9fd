"""How plans are paid: a door for each way, and the code that settles an account's plan.

`registry` names the doors and the one the settings choose; `contract` says what a door does. `manual` sells nothing:
the operator sets plans by command. A payment service's state of subscriptions becomes a plan in
`settle`, and nowhere else. Card data never comes here: people pay on pages of the payment service.
"""
