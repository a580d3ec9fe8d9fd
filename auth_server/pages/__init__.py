"""The pages of the web host: public pages, the dashboard and its forms, which call tools as the person.

HTML is in `templates/`; only passkeys and the notifications of browsers need a script.
"""
