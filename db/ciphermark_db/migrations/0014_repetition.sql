-- A chain is of moduli; operations in a row are repetitions. Keys of cases are made of the first word and stay.
update case_ set experiment = 'repetition' where experiment = 'chain';
