#!/usr/bin/env bash
# usage: demo.sh APPS FOLDER: what the built applications in APPS show in a few minutes.
#
# Measures this machine, runs every scheme on the photograph, draws the Mandelbrot set by statements over arrays and by one kernel,
# grows a cosmic web, finds a universe in which a word forms, lets a jet break, forecasts a survey, and fills FOLDER with pictures and a page,
# index.html, that says what they show.
set -euo pipefail
export LC_ALL=C
apps=$1 folder=$2 here=$(dirname "$(realpath "$0")")
info=$apps/info/coir-info jacobi=$apps/jacobi/coir-jacobi escape=$apps/escape/coir-escape
nbody=$apps/nbody/coir-nbody field=$apps/field/coir-field cells=$apps/cells/coir-cells
shallow=$apps/shallow/coir-shallow
photograph=$here/jacobi/coffee.png

# rebuild NAME ARGUMENT...: the picture NAME by coir-jacobi; prints how near to the photograph it is
rebuild() {
  local name=$1 error
  shift
  "$jacobi" "$photograph" --quiet --output "$folder/$name.png" --report "$folder/report.json" "$@"
  error=$(sed -nE 's/.*"max_abs_error": *([^,}]*).*/\1/p' "$folder/report.json")
  rm "$folder/report.json"
  awk -v error="$error" 'BEGIN {
    if (error < 0.5) printf "equal to the photograph to every grey level"
    else printf "off by at most %.2f of 255 grey levels", error
  }'
}

rm -rf "$folder"
mkdir -p "$folder"
cp "$photograph" "$folder/1_photograph.png"

printf 'This machine\n\n'
"$info" --measure

printf '\nA photograph rebuilt from its Laplacian by every scheme\n\n'
"$jacobi" "$photograph" --compare --output-laplacian "$folder/2_laplacian.png"
AFTER_100=$(rebuild 3_after_100_sweeps --sweeps 100)
AFTER_1000=$(rebuild 4_after_1000_sweeps --sweeps 1000)
AFTER_10000=$(rebuild 5_after_10000_sweeps --sweeps 10000)
AFTER_150000=$(rebuild 6_after_150000_sweeps --sweeps 150000)
BY_MULTIGRID=$(rebuild 7_multigrid --scheme multigrid)

printf '\nThe Mandelbrot set by statements over whole arrays, and by one kernel\n\n'
"$escape" --size 1024x1024 --scheme arrays
"$escape" --size 1024x1024 --scheme kernel
"$escape" --size 1600x1200 --quiet --output "$folder/8_mandelbrot.png"
"$escape" --center -0.743643887 0.131825904 --width 1e-5 --iterations 5000 --precision double \
  --size 1600x1200 --quiet --output "$folder/9_valley.png"

NEXT="$jacobi a_picture_of_yours.png --sweeps 5000 --output rebuilt.png
$escape --set julia --constant -0.8 0.156 --output julia.png"
UNIVERSE=
if [[ -x $nbody ]]; then
  printf '\nThe cosmic web: two million particles from a random field to today\n\n'
  "$nbody" --particles 128 --box 150 --stepper bullfrog --steps 12 --a-start 0.05 \
    --outputs 0.05,0.3 --pixels 1024 --slab-thickness 10 --output "$folder/web"
  cp "$folder/web/slab_a0.050.png" "$folder/10_young_universe.png"
  cp "$folder/web/slab_a0.300.png" "$folder/11_growing_web.png"
  cp "$folder/web/slab_a1.000.png" "$folder/12_cosmic_web.png"
  cp "$folder/web/projection_a1.000.png" "$folder/13_whole_box.png"
  UNIVERSE=$(<"$here/demo_universe.html")
  NEXT+="
$nbody --seed 2 --particles 128 --box 150 --output universe   # another universe, a minute
$nbody --help"
fi
WORD_FORMS=
if [[ -x $field ]]; then
  printf '\nA universe in which a word forms: its start is found by gradients through the simulation\n\n'
  "$field" "$here/field/word.png" --realisation --iterations 60 --output "$folder/word"
  cp "$folder/word/strip.png" "$folder/14_word_forms.png"
  WORD_FORMS=$(<"$here/demo_word.html")
  NEXT+="
$field a_picture_of_yours.png --realisation --output its_universe   # black on white is best"
fi

JET=
if [[ -x $shallow ]]; then
  printf '\nA jet of shallow water that breaks into vortices\n\n'
  "$shallow" --size 480x240 --cell 2500 --amplitude 20 --dt 7.5 --viscosity 100 --steps 32000 --output "$folder/jet"
  cp "$folder/jet/potential_vorticity_032000.png" "$folder/16_vortices.png"
  JET=$(<"$here/demo_jet.html")
  NEXT+="
$shallow --start dam --cell 1 --depth 2 --steps 2000 --outputs 500,1000 --output dam   # a dam that breaks"
fi

printf '\nWhat a survey of galaxies can measure\n\n'
"$cells" --config "$here/cells/des_y1.toml" --output "$folder/survey"
cp "$folder/survey/triangle.svg" "$folder/15_survey.svg"
SURVEY=$(<"$here/demo_survey.html")
NEXT+="
$cells --free omega_m sigma8 w0 --f-sky 0.3 --output wide   # a survey of a third of the sky"

# The page. The colours are those of coir-nbody and coir-field, at even steps from the darkest to the lightest.
COLOURS="#03060d, #1a153a, #471f5f, #7d2b6f, #b0416b, #d56762, #e7986c, #ebc99d, #f5f2e3"
page=$(<"$here/demo_page.html.in")
for name in COLOURS AFTER_100 AFTER_1000 AFTER_10000 AFTER_150000 BY_MULTIGRID UNIVERSE WORD_FORMS JET SURVEY NEXT; do
  page=${page//"@$name@"/"${!name}"}
done
printf '%s\n' "$page" >"$folder/index.html"

printf '\nWhat the pictures show, and what to try next:\n  %s\n' "$folder/index.html"
