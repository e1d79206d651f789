-- What the model of costs predicted of results, from cost tables of other runs than the predicted one.
create table prediction (
    case_info_id bigint not null references case_info,
    stage text not null,
    step text,
    metric text not null references metric,
    predicted double precision not null,
    predicted_low double precision not null,
    predicted_high double precision not null,
    uncovered text[] not null,
    cost_table text not null,
    unique nulls not distinct (case_info_id, stage, step, metric)
);

comment on table prediction is 'Predicted results of cases: a row per case, stage, step and metric';
comment on column prediction.predicted is 'Predicted value, in the unit of the metric';
comment on column prediction.predicted_low is 'Lower bound of the 80% interval';
comment on column prediction.predicted_high is 'Upper bound of the 80% interval';
comment on column prediction.uncovered is 'What the cost table lacks: with any, the prediction is partial';
comment on column prediction.cost_table is 'Digest of the cost table';

create table prediction_share (
    case_info_id bigint not null references case_info,
    operation text not null,
    occurrences bigint not null,
    predicted_s double precision not null,
    primary key (case_info_id, operation)
);

comment on table prediction_share is 'Predicted time of the server by operation: a row per case and operation';
comment on column prediction_share.occurrences is 'Number of occurrences in the programs of a pass';
comment on column prediction_share.predicted_s is 'Predicted time of all occurrences, in seconds';
