-- What programs say of their layers. Times and errors of layers are samples, with a layer's name as the step.

create table trial_layer (
    trial_id text not null references trial,
    stage text not null,
    position integer not null,
    layer text not null,
    level integer not null,
    end_level integer not null,
    scale_bits double precision,
    operand_bytes bigint not null,
    result_bytes bigint not null,
    counts jsonb not null,
    primary key (trial_id, stage, position)
);

comment on table trial_layer is 'The parts of the program that was executed in a stage of a trial, where the workload names several';
comment on column trial_layer.position is 'Its place among the layers of the stage, from 1';
comment on column trial_layer.layer is 'Its name: the step of its samples';
comment on column trial_layer.level is 'Level of its highest operand';
comment on column trial_layer.end_level is 'Level of what it ends with';
comment on column trial_layer.scale_bits is 'log2 of the scale of what it ends with; NULL in bfv and bgv';
comment on column trial_layer.operand_bytes is 'Ciphertexts and plaintexts that it takes, in memory';
comment on column trial_layer.result_bytes is 'Ciphertexts that it ends with, in memory';
comment on column trial_layer.counts is 'List of operation, level and n';
