//===- Places.cpp - What places in a graph are called ---------------------===//

#include "compiler/Builder/Places.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

std::string tenon::placeOf(Location Where) {
  return TypeSwitch<LocationAttr, std::string>(LocationAttr(Where))
      .Case([](NameLoc Name) { return Name.getName().str(); })
      .Case([](FileLineColRange Range) {
        return Range.getFilename().str() + ":" +
               std::to_string(Range.getStartLine()) + ":" +
               std::to_string(Range.getStartColumn());
      })
      .Case([](CallSiteLoc Call) { return placeOf(Call.getCallee()); })
      .Case([](FusedLoc Fused) {
        for (Location Each : Fused.getLocations())
          if (std::string Place = placeOf(Each); !Place.empty())
            return Place;
        return std::string();
      })
      .Default([](LocationAttr) { return std::string(); });
}
