"""What each kind of run does, one module for each noun: monitors, alerts, orders, mail, audits, rates, sources."""
