#include "config/yaml_document.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace acgan {

namespace {

// Sees where documents begin and ignores all else.
struct DocumentStarts : YAML::EventHandler {
  using Mark = YAML::Mark;
  void OnDocumentStart(const Mark& mark) override { last_line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, YAML::anchor_t) override {}
  void OnAlias(const Mark&, YAML::anchor_t) override {}
  void OnScalar(const Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  int last_line = 0;
};

// YAML::Load reads the first document and no further, and YAML::LoadAll takes a stray ',' or ']'
// for an endless row of empty documents.
void refuse_second_document(const std::string& text, const YamlSource& source) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  if (!parser.HandleNextDocument(starts) || !parser.HandleNextDocument(starts)) return;
  fail(ErrorKind::Usage, "{}: expected one YAML document, found a second one or a stray character",
       source.at(starts.last_line));
}

}  // namespace

std::string YamlSource::at(int line) const {
  return has_lines && line > 0 ? fmt::format("{}:{}", name, line) : name;
}

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

ConfigValue scalar_value(const YAML::Node& node, int line) {
  ConfigValue value;
  value.line = line;
  if (node.IsScalar()) {
    // yaml-cpp gives every plain scalar the tag "?".
    value.form = node.Tag() == "?" ? ConfigValue::Form::Plain : ConfigValue::Form::Quoted;
    value.text = node.Scalar();
  } else if (node.IsSequence()) {
    value.form = ConfigValue::Form::List;
  } else if (node.IsMap()) {
    value.form = ConfigValue::Form::Map;
  }
  return value;
}

std::string read_yaml_file(const std::string& path, const std::string& what) {
  constexpr std::streamsize kLargest = 1 << 20;  // nobody writes a larger one
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const bool is_run = std::filesystem::exists(std::filesystem::path(path) / "config.yaml");
    fail(ErrorKind::Usage, "{}: expected a YAML {} file, found a folder{}", path, what,
         is_run ? "; its config.yaml can be given" : "");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargest + 1, '\0');
  if (file) file.read(text.data(), kLargest + 1);
  if (!file.is_open() || file.bad()) {
    fail(ErrorKind::Usage, "{}: cannot read the {} file: {}", path, what,
         std::generic_category().message(errno));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.gcount() > kLargest) {
    fail(ErrorKind::Usage, "{}: expected a YAML {} file, found more than 1 MiB", path, what);
  }
  return text;
}

YAML::Node parse_yaml(const std::string& text, const YamlSource& source) {
  try {
    refuse_second_document(text, source);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    fail(ErrorKind::Usage, "{}: not valid YAML: {}", source.at(error.mark.line + 1), error.msg);
  }
}

}  // namespace acgan
