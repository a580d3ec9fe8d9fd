"""Google Sheets: balances and bookings are written into a sheet this service made. It is only written to."""
