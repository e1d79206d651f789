select * from layers
