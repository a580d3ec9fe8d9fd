"""Google Sheets: balances and bookings of an account go out into a sheet this service made; nothing comes in."""
