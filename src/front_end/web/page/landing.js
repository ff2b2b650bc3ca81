// The page on which a login ends: what it says, in the browser's language.
"use strict";

const landed = document.getElementById("landed");
const landedWords = retold(landed.textContent.replace(/\.$/, ""));
document.documentElement.lang = LANGUAGE;
landed.lang = landedWords ? LANGUAGE : "en";
if (landedWords) landed.textContent = landedWords + ".";
translate(document);
