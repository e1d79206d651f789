// The contract's circuits, call by call.
#pragma once

#include "hand_tools.hpp"
#include <memory>
#include <vector>

class Circuit {
public:
    virtual ~Circuit() = default;

    // What the circuit needs beside rows; not timed.
    virtual void prepare() {}
    virtual void execute() = 0;

    Tools tools;

protected:
    explicit Circuit(const Request &request, std::vector<int> steps = {}) : tools(request, std::move(steps)) {}
};

// Throws std::invalid_argument for a name that is not known.
std::unique_ptr<Circuit> circuit_named(const Request &request);
