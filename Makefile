# Every target is one call of `python -m helpers …`, so that Windows without make can type the same: README.md.
PYTHON ?= python3
LANG_ ?=
LESSON ?=
DRAFT ?=
SLUG ?=

.DEFAULT_GOAL := help
.PHONY: help lab fresh doctor project slides handouts experiment test bench pictures setup notebooks gates i18n i18n-status lesson lock clean
.NOTPARALLEL:

help: ## this list
	@$(PYTHON) -m helpers help

lab: ## open the course in JupyterLab (first time: sets up .venv); lab-fr, lab-ru, lab-es: in this language
	@$(PYTHON) -m helpers lab $(if $(LANG_),--language "$(LANG_)")

fresh: ## start LESSON=idempotent-consumer LANG_=fr afresh; your earlier copy is kept beside the new one
	@$(PYTHON) -m helpers fresh $(if $(LESSON),--lesson "$(LESSON)") $(if $(LANG_),--language "$(LANG_)")

doctor: ## look at this machine and say what to do
	@$(PYTHON) -m helpers doctor $(if $(LANG_),--language "$(LANG_)")

project: ## open LESSON=idempotent-consumer LANG_=fr for the projector; notes for the teacher's own screen
	@$(PYTHON) -m helpers project $(if $(LESSON),--lesson "$(LESSON)") $(if $(LANG_),--language "$(LANG_)")

slides: ## write slides that work offline into build/slides (all, or LESSON=… LANG_=…)
	@$(PYTHON) -m helpers slides $(if $(LESSON),--lesson "$(LESSON)") $(if $(LANG_),--language "$(LANG_)")

handouts: ## write pages to print into build/handouts: for the class, and with answers (all, or LESSON=… LANG_=…)
	@$(PYTHON) -m helpers handouts $(if $(LESSON),--lesson "$(LESSON)") $(if $(LANG_),--language "$(LANG_)")

experiment: ## run LESSON=idempotent-consumer LANG_=fr with each guard and fault; SET="duplicates=0,2" DASK=tcp://…
	@$(PYTHON) -m helpers experiment $(if $(LESSON),--lesson "$(LESSON)") $(if $(LANG_),--language "$(LANG_)") \
		$(foreach one,$(SET),--set "$(one)") $(if $(DASK),--dask "$(DASK)")

lab-%:
	@$(PYTHON) -m helpers lab --language "$*"

test: ## run everything that CI runs
	@$(PYTHON) -m helpers test

bench: ## measure the emulated account beside ministack (20 minutes); writes docs/benchmarks.md
	@$(PYTHON) -m helpers bench

pictures: ## photograph the lessons in JupyterLab (some minutes, needs Chromium); writes docs/pictures.md
	@$(PYTHON) -m helpers pictures

setup: ## only create or repair .venv
	@$(PYTHON) -m helpers setup

notebooks: ## write notebooks/ from lessons/ (all, or LANG_=fr; DRAFT=1: also when translations are missing)
	@$(PYTHON) -m helpers notebooks $(if $(LANG_),--language "$(LANG_)") $(if $(DRAFT),--draft)

i18n: ## bring the catalogs up to date with lessons/ and helpers/
	@$(PYTHON) -m helpers i18n $(if $(LANG_),--language "$(LANG_)")

gates: ## check lessons and translations, and build nothing (all, or LANG_=fr)
	@$(PYTHON) -m helpers gates $(if $(LANG_),--language "$(LANG_)")

i18n-status: ## say how far the translations are
	@$(PYTHON) -m helpers i18n-status $(if $(LANG_),--language "$(LANG_)")

lesson: ## write a small new lesson that runs, to begin from: SLUG=bounded-retries
	@$(PYTHON) -m helpers lesson $(if $(SLUG),"$(SLUG)",--help)

lock: ## choose new versions for requirements*.lock
	@$(PYTHON) -m helpers lock

clean: ## remove .venv and caches; answers, notebooks and experiments stay
	@$(PYTHON) -m helpers clean
