"""Google Sheets: balances and bookings are written into a sheet made by this service. Only written to."""
