"""What the services of the two parties have in common: sessions that are party processes, and their messages over REST."""
