/** Text of others (a program's last words, a server's error) for a terminal: shown, never obeyed. */

/** What moves a cursor, colours, names a window or turns the direction of writing is seen as such; newlines and tabs stay. */
export const plainText = (text: string): string => text.replace(/(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
