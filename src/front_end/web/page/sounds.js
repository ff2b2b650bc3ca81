// What is heard: the browser's voice, and sounds made here. Both are off at first; each browser remembers them.
"use strict";

const isOn = (what) => localStorage.getItem(what) === "on";
const speaks = () => isOn("speech");

/** Announces a text; `language` is that of the daemon's own words. */
function say(text, language = LANGUAGE) {
  $("said").lang = language;
  $("said").textContent = text;
  if (speaks() && window.speechSynthesis) {
    const words = new SpeechSynthesisUtterance(text);
    words.lang = language;
    window.speechSynthesis.speak(words);
  }
}

/** Each sound: tones of [Hz, seconds after the last one began]. */
const SOUNDS = {
  move: [[330, 0]], capture: [[330, 0], [220, 0.06]], check: [[660, 0], [880, 0.09]],
  mistake: [[160, 0], [160, 0.15]], ended: [[523, 0], [659, 0.15], [784, 0.15]],
};
const TONE_S = 0.12;
let audio = null;

function sound(kind) {
  if (!isOn("sounds") || !window.AudioContext) return;
  // A browser lets a page be heard only after a click or a key.
  if (navigator.userActivation?.hasBeenActive === false) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
  let at = audio.currentTime;
  for (const [pitch, later] of SOUNDS[kind]) {
    at += later;
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    tone.type = "triangle";
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.25, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + TONE_S);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + TONE_S);
  }
}

/** How a move sounds. */
function soundOf(san) {
  return /[+#]$/.test(san) ? "check" : san.includes("x") ? "capture" : "move";
}
