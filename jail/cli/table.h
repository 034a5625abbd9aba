// Aligned columns for people, and numbers as they read them. Every cell is escaped: nothing that a jail or a peer can
// name reaches a terminal raw (promise P70).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly {

using TableRow = std::vector<std::string>;
std::string format_table(const TableRow& headings, const std::vector<TableRow>& rows);

std::string short_size(std::uint64_t bytes);   // "256M", "1.5G", "812K"
std::string short_duration(std::uint64_t ms);  // "850ms", "12s", "4m10s", "2h05m"

}  // namespace mayfly
