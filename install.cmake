# What `cmake --install` puts where: the program, what it prints of itself (man page, completions,
# schemas), and the documents with the samples and the templates of ci/, side by side as their links
# have them. The program needs none of these files.
include(GNUInstallDirs)

install(TARGETS sortie RUNTIME)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN site EXCLUDE)
install(DIRECTORY samples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)
install(DIRECTORY ci/benchmarks ci/cron ci/docker ci/github ci/gitlab ci/jenkins ci/kubernetes ci/slurm
  ci/systemd
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/ci USE_SOURCE_PERMISSIONS)

if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "A cross build without an emulator installs no man page, completions and schemas: "
    "the program can't be asked for them")
  return()
endif()

set(printed ${PROJECT_BINARY_DIR}/printed)
file(MAKE_DIRECTORY ${printed}/schemas)
set(print COMMAND sortie --man > ${printed}/sortie.1)
set(printed_files ${printed}/sortie.1)
foreach(shell bash zsh fish)
  list(APPEND print COMMAND sortie completion ${shell} > ${printed}/sortie.${shell})
  list(APPEND printed_files ${printed}/sortie.${shell})
endforeach()
foreach(name task policy functions manifest batch-result transcript event result approver-request
    approver-answer rate-limits)
  list(APPEND print COMMAND sortie schema ${name} > ${printed}/schemas/${name}.schema.json)
  list(APPEND printed_files ${printed}/schemas/${name}.schema.json)
endforeach()
add_custom_command(OUTPUT ${printed_files} ${print} DEPENDS sortie VERBATIM)
add_custom_target(sortie_printed ALL DEPENDS ${printed_files})

install(FILES ${printed}/sortie.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${printed}/sortie.bash RENAME sortie
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${printed}/sortie.zsh RENAME _sortie
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${printed}/sortie.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${printed}/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/sortie)
