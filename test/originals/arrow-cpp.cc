// The filters of Arrow C++: arrow-cpp FOLDER, as parquet_writers.pl says.  It
// writes no file; pyarrow is Arrow C++, and test/t/interop/parquet.pl has files of that.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <parquet/bloom_filter.h>
#include <parquet/exception.h>
#include <parquet/properties.h>
#include <parquet/xxhasher.h>

namespace
{

using Filter = parquet::BlockSplitBloomFilter;

constexpr double fpp = 0.01;

std::string unhex(const std::string &digits)
{
	std::string bytes;
	for (size_t i = 0; i + 1 < digits.size(); i += 2)
		bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
	return bytes;
}

std::string hex(const std::string &bytes)
{
	static const char digits[] = "0123456789abcdef";
	std::string made;
	for (unsigned char byte : bytes)
	{
		made.push_back(digits[byte >> 4]);
		made.push_back(digits[byte & 15]);
	}
	return made;
}

std::vector<std::string> fields_of(const std::string &line)
{
	std::vector<std::string> fields;
	std::istringstream rest(line + '\t');
	for (std::string field; std::getline(rest, field, '\t');)
		fields.push_back(field);
	return fields;
}

// The hash of an element, by the overload that its column's type has.
uint64_t hash_of(const std::string &kind, std::string value)
{
	static const parquet::XxHasher hasher;

	if (kind == "integer")
		return hasher.Hash(static_cast<int32_t>(std::stol(value)));
	if (kind == "bigint")
		return hasher.Hash(static_cast<int64_t>(std::stoll(value)));
	if (kind == "text")
		return hasher.Hash(std::string_view(value));
	value.erase(std::remove(value.begin(), value.end(), '-'), value.end());
	value = unhex(value);
	const auto *bytes = reinterpret_cast<const uint8_t *>(value.data());
	const parquet::FLBA fixed(bytes);
	const parquet::ByteArray varying(static_cast<uint32_t>(value.size()), bytes);
	return kind == "uuid" ? hasher.Hash(&fixed, 16) : hasher.Hash(&varying);
}

std::string answers_of(const Filter &filter, const std::vector<uint64_t> &hashes)
{
	std::string answers;
	for (uint64_t hash : hashes)
		answers.push_back(filter.FindHash(hash) ? '1' : '0');
	return answers;
}

std::string answers_of_stream(const std::string &stream, const std::vector<uint64_t> &hashes)
{
	try
	{
		arrow::io::BufferReader input(arrow::Buffer::FromString(stream));
		return answers_of(Filter::Deserialize(parquet::ReaderProperties(), &input), hashes);
	}
	catch (const parquet::ParquetException &)
	{
		return "refused";
	}
}

std::string stream_of(const Filter &filter)
{
	auto output = arrow::io::BufferOutputStream::Create().ValueOrDie();
	filter.WriteTo(output.get());
	return output->Finish().ValueOrDie()->ToString();
}

void run(const std::string &folder)
{
	std::map<std::string, std::vector<uint64_t>> present, all;
	std::ifstream elements(folder + "/elements.tsv"), sql(folder + "/sql.tsv");
	std::ofstream filters(folder + "/filters.tsv"), answers(folder + "/answers.tsv");

	for (std::string line; std::getline(elements, line);)
	{
		auto fields = fields_of(line);
		uint64_t hash = hash_of(fields.at(0), fields.at(2));
		all[fields[0]].push_back(hash);
		if (fields[1] == "present")
			present[fields[0]].push_back(hash);
	}
	for (std::string line; std::getline(sql, line);)
	{
		auto fields = fields_of(line);
		answers << fields.at(0) << '\t' << fields.at(1) << '\t' << answers_of_stream(unhex(fields.at(2)), all.at(fields[1])) << '\n';
	}
	for (const auto &[kind, hashes] : present)
	{
		Filter filter;
		filter.Init(Filter::OptimalNumOfBytes(hashes.size(), fpp));
		for (uint64_t hash : hashes)
			filter.InsertHash(hash);
		filters << "put\t" << kind << '\t' << hex(stream_of(filter)) << '\n';
		answers << "put\t" << kind << '\t' << answers_of(filter, all.at(kind)) << '\n';
	}
	filters.close();
	answers.close();
	if (!elements.eof() || !filters || !answers)
		throw std::runtime_error("cannot read or write in " + folder);
}

} // namespace

int main(int argc, char **argv)
{
	try
	{
		if (argc != 2)
			throw std::runtime_error("usage: arrow-cpp FOLDER");
		run(argv[1]);
		return 0;
	}
	catch (const std::exception &e)
	{
		std::cerr << e.what() << '\n';
		return 1;
	}
}
