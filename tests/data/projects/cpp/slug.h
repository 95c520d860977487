#pragma once
#include <string>
std::string slug(std::string title);
