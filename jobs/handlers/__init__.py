"""What each kind of run does, one module for each noun: monitors, alerts, standing orders, mail, audit, retention."""
