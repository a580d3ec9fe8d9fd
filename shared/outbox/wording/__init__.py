"""The words of messages and mails, one module for each noun."""
