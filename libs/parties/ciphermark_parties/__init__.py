"""What the services of both parties have in common: sessions that are party processes, and their messages over REST."""
