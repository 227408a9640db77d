/**
 * Records a sign-in without a sign-out in this browser: if the person then lands on the sign-in page, their session has
 * ended.
 */
const key = 'homeport.signed-in';

export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

export function markSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(key, '1');
    else localStorage.removeItem(key);
  } catch {
    // If the browser stores nothing, the explanation is simply missing.
  }
}
