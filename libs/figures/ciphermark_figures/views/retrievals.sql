select * from retrievals
