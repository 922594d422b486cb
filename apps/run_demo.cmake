# cmake -D INFO=<coir-info> -D JACOBI=<coir-jacobi> -D ESCAPE=<coir-escape> [-D NBODY=<coir-nbody>]
#       [-D FIELD=<coir-field> -D WORD=<file>] -D PHOTOGRAPH=<file> -D FOLDER=<folder> -P run_demo.cmake
#
# Measures this machine, runs every scheme on the photograph, draws the Mandelbrot set by statements over
# arrays and by one kernel, grows a cosmic web, finds a universe in which a word forms, and fills FOLDER with
# pictures.
cmake_minimum_required(VERSION 3.25)

# message() writes to stderr, or with dashes before the text; this is output like the programs' own.
function(say)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${ARGV}")
endfunction()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# sweep(COUNT NAME): the picture after COUNT sweeps of Jacobi's method
function(sweep count name)
  run("${JACOBI}" "${PHOTOGRAPH}" --sweeps ${count} --quiet --output "${FOLDER}/${name}.png")
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
run("${JACOBI}" "${PHOTOGRAPH}" --compare
    --output-laplacian "${FOLDER}/2_laplacian.png" --output "${FOLDER}/7_multigrid.png")

sweep(100 3_after_100_sweeps)
sweep(1000 4_after_1000_sweeps)
sweep(10000 5_after_10000_sweeps)
sweep(150000 6_after_150000_sweeps)

say("")
say("The Mandelbrot set by statements over whole arrays, and by one kernel")
say("")
run("${ESCAPE}" --size 1024x1024 --scheme arrays)
run("${ESCAPE}" --size 1024x1024 --scheme kernel)
run("${ESCAPE}" --size 1600x1200 --quiet --output "${FOLDER}/8_mandelbrot.png")
run("${ESCAPE}" --center -0.743643887 0.131825904 --width 1e-5 --iterations 5000 --precision double
    --size 1600x1200 --quiet --output "${FOLDER}/9_valley.png")

if(DEFINED NBODY)
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

if(DEFINED FIELD)
  say("")
  say("A universe in which a word forms: its start is found by gradients through the simulation")
  say("")
  run("${FIELD}" "${WORD}" --realisation --iterations 60 --output "${FOLDER}/word")
  file(COPY_FILE "${FOLDER}/word/strip.png" "${FOLDER}/14_word_forms.png")
endif()

say("")
say("The pictures:")
file(GLOB pictures "${FOLDER}/*.png")
list(SORT pictures COMPARE NATURAL)
foreach(picture IN LISTS pictures)
  say("  ${picture}")
endforeach()
