"""Letters written after the layouts senders use, what a careful reader takes from each, and a strict comparison."""
