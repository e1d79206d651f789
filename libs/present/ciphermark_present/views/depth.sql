select * from depths
