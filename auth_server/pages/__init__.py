"""The pages of the web host: public pages, dashboard, settings. HTML is in `templates/`; none needs a script."""
