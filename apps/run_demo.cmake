# cmake -D APPS=<folder of the built applications> -D FOLDER=<folder> -P run_demo.cmake
#
# Measures this machine, runs every scheme on the photograph, draws the Mandelbrot set by statements over
# arrays and by one kernel, grows a cosmic web, finds a universe in which a word forms, and fills FOLDER with
# pictures and a page, index.html, that says what they show.
cmake_minimum_required(VERSION 3.25)
foreach(app IN ITEMS INFO JACOBI ESCAPE NBODY FIELD)
  string(TOLOWER ${app} name)
  set(${app} "${APPS}/${name}/coir-${name}")
endforeach()
set(PHOTOGRAPH "${CMAKE_CURRENT_LIST_DIR}/jacobi/coffee.png")

# message() writes to stderr, or with dashes before the text; this is output like the programs' own.
function(say)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${ARGV}")
endfunction()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# rebuild(VARIABLE NAME ARGUMENT...): the picture NAME by coir-jacobi, and in VARIABLE how near to the photograph it is
function(rebuild variable name)
  run("${JACOBI}" "${PHOTOGRAPH}" --quiet --output "${FOLDER}/${name}.png" --report "${FOLDER}/report.json" ${ARGN})
  file(READ "${FOLDER}/report.json" report)
  file(REMOVE "${FOLDER}/report.json")
  string(JSON error GET "${report}" max_abs_error)
  string(REGEX MATCH "^[0-9]+(\\.[0-9]?[0-9]?)?" error "${error}")
  set(nearness "off by at most ${error} of 255 grey levels")
  if(error LESS 0.5)
    set(nearness "equal to the photograph to every grey level")
  endif()
  set(${variable} "${nearness}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
file(COPY_FILE "${PHOTOGRAPH}" "${FOLDER}/1_photograph.png")

say("This machine")
say("")
run("${INFO}" --measure)

say("")
say("A photograph rebuilt from its Laplacian by every scheme")
say("")
run("${JACOBI}" "${PHOTOGRAPH}" --compare --output-laplacian "${FOLDER}/2_laplacian.png")

rebuild(AFTER_100 3_after_100_sweeps --sweeps 100)
rebuild(AFTER_1000 4_after_1000_sweeps --sweeps 1000)
rebuild(AFTER_10000 5_after_10000_sweeps --sweeps 10000)
rebuild(AFTER_150000 6_after_150000_sweeps --sweeps 150000)
rebuild(BY_MULTIGRID 7_multigrid --scheme multigrid)

say("")
say("The Mandelbrot set by statements over whole arrays, and by one kernel")
say("")
run("${ESCAPE}" --size 1024x1024 --scheme arrays)
run("${ESCAPE}" --size 1024x1024 --scheme kernel)
run("${ESCAPE}" --size 1600x1200 --quiet --output "${FOLDER}/8_mandelbrot.png")
run("${ESCAPE}" --center -0.743643887 0.131825904 --width 1e-5 --iterations 5000 --precision double
    --size 1600x1200 --quiet --output "${FOLDER}/9_valley.png")

if(EXISTS "${NBODY}")
  say("")
  say("The cosmic web: two million particles from a random field to today")
  say("")
  run("${NBODY}" --particles 128 --box 150 --stepper bullfrog --steps 12 --a-start 0.05
      --outputs 0.05,0.3 --pixels 1024 --slab-thickness 10 --output "${FOLDER}/web")
  file(COPY_FILE "${FOLDER}/web/slab_a0.050.png" "${FOLDER}/10_young_universe.png")
  file(COPY_FILE "${FOLDER}/web/slab_a0.300.png" "${FOLDER}/11_growing_web.png")
  file(COPY_FILE "${FOLDER}/web/slab_a1.000.png" "${FOLDER}/12_cosmic_web.png")
  file(COPY_FILE "${FOLDER}/web/projection_a1.000.png" "${FOLDER}/13_whole_box.png")
endif()

if(EXISTS "${FIELD}")
  say("")
  say("A universe in which a word forms: its start is found by gradients through the simulation")
  say("")
  run("${FIELD}" "${CMAKE_CURRENT_LIST_DIR}/field/word.png" --realisation --iterations 60 --output "${FOLDER}/word")
  file(COPY_FILE "${FOLDER}/word/strip.png" "${FOLDER}/14_word_forms.png")
endif()

# The page. The colours are those of coir-nbody and coir-field, at even steps from the darkest to the lightest.
set(COLOURS "#03060d, #1a153a, #471f5f, #7d2b6f, #b0416b, #d56762, #e7986c, #ebc99d, #f5f2e3")
set(UNIVERSE "")
set(WORD_FORMS "")
set(NEXT "${JACOBI} a_picture_of_yours.png --sweeps 5000 --output rebuilt.png\n")
string(APPEND NEXT "${ESCAPE} --set julia --constant -0.8 0.156 --output julia.png\n")
if(EXISTS "${NBODY}")
  file(READ "${CMAKE_CURRENT_LIST_DIR}/demo_universe.html" UNIVERSE)
  string(APPEND NEXT "${NBODY} --seed 2 --particles 128 --box 150 --output universe   # another universe, a minute\n")
  string(APPEND NEXT "${NBODY} --help\n")
endif()
if(EXISTS "${FIELD}")
  file(READ "${CMAKE_CURRENT_LIST_DIR}/demo_word.html" WORD_FORMS)
  string(APPEND NEXT "${FIELD} a_picture_of_yours.png --realisation --output its_universe   # black on white is best\n")
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/demo_page.html.in" "${FOLDER}/index.html" @ONLY)

say("")
say("What the pictures show, and what to try next:")
say("  ${FOLDER}/index.html")
