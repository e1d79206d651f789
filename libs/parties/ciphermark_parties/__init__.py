"""The common part of both parties' services: sessions that are party processes, and their messages over REST."""
