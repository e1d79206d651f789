-- Rotations are by any steps. Keys of cases are made of the first texts and stay.
update case_ set operation = 'rotate(1)' where operation = 'rotate_left';
update case_ set operation = 'rotate(-1)' where operation = 'rotate_right';
