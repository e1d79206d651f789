"""What the services of the two parties have in common: sessions that are party processes, and the words of REST."""
