select * from inferences
