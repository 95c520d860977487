# for unittest's discovery
