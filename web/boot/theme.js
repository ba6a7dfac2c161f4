// Before anything is drawn: the theme that the reader chose, where it is not the system's.
try {
  const theme = localStorage.getItem('dyno-theme');
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
  }
} catch {
  // A browser that keeps nothing for us follows the system.
}
