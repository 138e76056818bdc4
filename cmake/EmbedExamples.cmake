# Writes OUTPUT, a C++ source with the config of every model family's example:
# cmake -DSOURCES=a.json;b.json -DOUTPUT=x.inc -P EmbedExamples.cmake
set(text "// Made of examples/families/*.json.\n")
foreach(source ${SOURCES})
  get_filename_component(name ${source} NAME_WE)
  file(READ ${source} config)
  string(APPEND text "{\"${name}\", R\"json(${config})json\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
