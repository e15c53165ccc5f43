// Numbers as people read them.
function format_number(value) {
  if (value === null || !isFinite(value)) return "–";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 10000) return (value / 1000).toFixed(magnitude >= 100000 ? 0 : 1) + " k";
  if (magnitude >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(magnitude >= 10 ? 1 : 2);
}

// [number, unit]
function format_time(seconds) {
  if (seconds === null || !isFinite(seconds)) return ["–", ""];
  return seconds < 1 ? [format_number(seconds * 1000), "ms"] : [format_number(seconds), "s"];
}

function format_bytes(bytes) {
  if (bytes === null) return "–";
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) { bytes /= 1000; ++unit; }
  return format_number(unit ? bytes : Math.round(bytes)) + " " + units[unit];
}

function format_share(share) {
  return share === null ? "–" : (share * 100).toFixed(share > 0 && share < 0.0995 ? 1 : 0) + " %";
}

// An element with text, and children if there are any. Never markup: texts come from models and clients.
function element(tag, class_name = "", text = "", children = []) {
  const node = document.createElement(tag);
  if (class_name) node.className = class_name;
  if (text !== "") node.textContent = text;
  node.append(...children);
  return node;
}
