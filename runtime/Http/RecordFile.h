//===- RecordFile.h - The file of tenon serve --record ----------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_RECORDFILE_H
#define TENON_RUNTIME_HTTP_RECORDFILE_H

#include "runtime/Http/Record.h"

namespace tenon::http {

/// Adds requests to a record. A file that is new or full begins anew, with
/// what served: a full one goes to PATH.1, in place of an older one, so that
/// the last requests are always there in twice the bytes at most. Readable and
/// writable by its owner alone.
///
/// It grows line by line, as no OutputFile does: what there is when a process
/// is killed must stay.
class RecordFile {
public:
  /// An error for what is no file, another's file, or one that another server
  /// writes to. A last line that is not whole is removed.
  static Result<std::unique_ptr<RecordFile>>
  open(const std::string &Path, RecordHeader Served, uint64_t MostBytes);
  ~RecordFile();
  RecordFile(const RecordFile &) = delete;
  RecordFile &operator=(const RecordFile &) = delete;

  /// What cannot be written, as to a full disk, is dropped; a note says so
  /// once, and another one when it works again.
  void add(const RequestTrace &T, size_t DroppedBefore);

private:
  RecordFile(std::string Path, RecordHeader Served, uint64_t MostBytes);
  Status begin();
  Status append(const std::string &Line);
  void tell(const Status &Done);

  const std::string Path;
  const RecordHeader Served;
  const uint64_t MostBytes;
  const double Start;
  int File = -1;
  uint64_t Bytes = 0; ///< Whole lines in it.
  size_t Dropped = 0; ///< That the file does not tell of yet.
  bool IsFailing = false;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_RECORDFILE_H
