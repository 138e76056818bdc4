//===- Session.cpp - Steps, hidden states and images ----------------------===//

#include "Native.h"

using namespace tenon::python;
using namespace nb::literals;

namespace {

/// One item of a step, as Python gives it.
struct Item {
  tenon_sequence Sequence = 0;
  Tokens Ids;
  std::optional<Tokens> Types;
  tenon_output_rows Rows = TENON_OUTPUT_ROWS_LAST;
  int64_t Prefix = 0;
};

/// One thread may use it at a time.
class Session {
public:
  Session(const Model &M, int64_t Threads, int64_t CacheTokens,
          const Resources *Shared) {
    tenon_resources *On = Shared ? Shared->get() : nullptr;
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status =
          On ? tenon_session_create_on(On, M.get(), CacheTokens, &Handle)
             : tenon_session_create(M.get(), Threads, CacheTokens, &Handle);
    }
    check(Status);
  }
  Session(const Session &) = delete;
  ~Session() {
    nb::gil_scoped_release Release;
    if (Home.isHere())
      tenon_session_destroy(Handle);
  }

  tenon_sequence createSequence() {
    tenon_sequence Id = 0;
    check(tenon_sequence_create(get(), &Id));
    return Id;
  }
  void endSequence(tenon_sequence Id) { check(tenon_sequence_end(get(), Id)); }
  tenon_sequence forkSequence(tenon_sequence Id) {
    tenon_sequence Fork = 0;
    check(tenon_sequence_fork(get(), Id, &Fork));
    return Fork;
  }
  void truncateSequence(tenon_sequence Id, int64_t Length) {
    check(tenon_sequence_truncate(get(), Id, Length));
  }
  int64_t length(tenon_sequence Id) {
    int64_t Length = 0;
    check(tenon_sequence_length(get(), Id, &Length));
    return Length;
  }
  void cancel() { check(tenon_session_cancel(get())); }

  nb::list run(tenon_entry Entry, const std::vector<Item> &Items) {
    return runItems(Items, [&](tenon_session *S, const tenon_item *First,
                               tenon_output *Out) {
      return tenon_session_run(S, Entry, First, Items.size(), Out);
    });
  }
  nb::list encodeSources(const std::vector<Item> &Items) {
    return runItems(Items, [&](tenon_session *S, const tenon_item *First,
                               tenon_output *Out) {
      return tenon_session_encode_sources(S, First, Items.size(), Out);
    });
  }

  nb::list runImages(const Model &M, const std::vector<Pixels> &Images) {
    std::vector<const float *> First = pixelsOf(M, Images);
    return answer(Images.size(), [&](tenon_session *S, tenon_output *Out) {
      return tenon_session_run_images(S, First.data(), First.size(), Out);
    });
  }

private:
  template <typename Function>
  nb::list runItems(const std::vector<Item> &Items, Function Run) {
    std::vector<tenon_item> Passed;
    for (const Item &I : Items) {
      if (I.Types && I.Types->size() != I.Ids.size())
        raise(TENON_INVALID_ARGUMENT,
              "token_types has " + std::to_string(I.Types->size()) +
                  " elements: expected " + std::to_string(I.Ids.size()) +
                  ", one per token");
      Passed.push_back({sizeof(tenon_item), I.Sequence, I.Ids.data(),
                        I.Types ? I.Types->data() : nullptr, I.Ids.size(),
                        I.Rows, I.Prefix});
    }
    return answer(Items.size(), [&](tenon_session *S, tenon_output *Out) {
      return Run(S, Passed.data(), Out);
    });
  }

  /// The rows of each item, in memory that lives as long as any of them. The
  /// first item that went wrong raises.
  template <typename Function> nb::list answer(size_t Count, Function Run) {
    std::vector<tenon_output> Outputs(Count);
    for (tenon_output &O : Outputs)
      O.struct_size = sizeof(O);
    tenon_session *Running = get();
    tenon_values *Values = nullptr;
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status = Run(Running, Outputs.data());
    }
    check(Status);
    for (size_t I = 0; I < Count; ++I)
      if (Outputs[I].status != TENON_OK)
        raise(Outputs[I].status,
              (Count == 1 ? "" : "item " + std::to_string(I) + ": ") +
                  std::string(Outputs[I].error));
    check(tenon_session_take_values(Running, &Values));
    nb::object Owner = nb::none();
    if (Values)
      Owner = nb::capsule(Values, [](void *Memory) noexcept {
        tenon_values_destroy(static_cast<tenon_values *>(Memory));
      });
    nb::list Answers;
    for (const tenon_output &O : Outputs) {
      size_t Shape[2] = {O.rows, O.width};
      Answers.append(Rows(O.values, 2, Shape, Owner).cast());
    }
    return Answers;
  }

  tenon_session *get() const {
    Home.check("Session");
    return Handle;
  }

  HomeProcess Home;
  tenon_session *Handle = nullptr;
};

} // namespace

tenon::python::Resources::Resources(int64_t Threads, uint64_t MemoryBytes) {
  tenon::python::check(tenon_resources_create(Threads, MemoryBytes, &Handle));
}

void tenon::python::bindSession(nb::module_ &M) {
  nb::enum_<tenon_output_rows>(M, "OutputRows")
      .value("NONE", TENON_OUTPUT_ROWS_NONE)
      .value("LAST", TENON_OUTPUT_ROWS_LAST)
      .value("ALL", TENON_OUTPUT_ROWS_ALL);
  nb::class_<Item>(M, "Item").def(
      "__init__",
      [](Item *Self, Tokens Ids, tenon_sequence Sequence,
         std::optional<Tokens> Types, tenon_output_rows Rows, int64_t Prefix) {
        new (Self)
            Item{Sequence, std::move(Ids), std::move(Types), Rows, Prefix};
      },
      "tokens"_a, "sequence"_a = 0, "token_types"_a = nb::none(),
      "output_rows"_a = TENON_OUTPUT_ROWS_LAST, "prefix"_a = 0);
  nb::class_<Resources>(M, "Resources")
      .def(nb::init<int64_t, uint64_t>(), "threads"_a, "memory"_a);
  nb::class_<Session>(M, "Session")
      .def(nb::init<const Model &, int64_t, int64_t, const Resources *>(),
           "model"_a, "threads"_a, "cache_tokens"_a, "resources"_a.none())
      .def("create_sequence", &Session::createSequence)
      .def("end_sequence", &Session::endSequence, "sequence"_a)
      .def("fork_sequence", &Session::forkSequence, "sequence"_a)
      .def("truncate_sequence", &Session::truncateSequence, "sequence"_a,
           "length"_a)
      .def("length", &Session::length, "sequence"_a)
      .def("cancel", &Session::cancel)
      .def("run", &Session::run, "entry"_a, "items"_a)
      .def("encode_sources", &Session::encodeSources, "items"_a)
      .def("run_images", &Session::runImages, "model"_a, "images"_a);
}
