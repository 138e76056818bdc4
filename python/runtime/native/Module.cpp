//===- Module.cpp - The extension module tenon._native --------------------===//

#include "Native.h"

using namespace tenon::python;

void tenon::python::raise(tenon_status Status, const std::string &Message) {
  nb::object Classes = nb::module_::import_("tenon.errors").attr("BY_STATUS");
  nb::object Class = Classes[nb::int_(static_cast<int>(Status))];
  PyErr_SetObject(Class.ptr(), nb::str(Message.c_str()).ptr());
  throw nb::python_error();
}

void tenon::python::check(tenon_status Status) {
  if (Status != TENON_OK)
    raise(Status, tenon_last_error());
}

void tenon::python::HomeProcess::check(const char *What) const {
  if (!isHere())
    raise(
        TENON_INVALID_ARGUMENT,
        std::string(What) + " of process " + std::to_string(Id) +
            " is used in process " + std::to_string(::getpid()) +
            ", which was forked and has none of its threads: expected a model "
            "that is loaded in each process");
}

NB_MODULE(_native, M) {
  M.doc() = "The C API of Tenon; the package tenon has what programs use.";
  M.def("version", [] { return tenon_version(); });
  bindModel(M);
  bindSession(M);
  bindEngine(M);
}
