export function log(...parts) {
  console.error(new Date().toISOString(), ...parts);
}
