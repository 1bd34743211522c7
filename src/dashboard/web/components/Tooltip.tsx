/** A hint at the pointer or at the focus, the same by keyboard; Escape closes it. Escapes no text: children do. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

export function Tooltip({ hint, children, class: extra = '' }: { hint: ComponentChildren; children: ComponentChildren; class?: string }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const anchor = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (open && anchor.current && box.current) placeBeside(box.current, anchor.current.getBoundingClientRect());
  }, [open]);
  return (
    <span class={`tip ${extra}`}>
      <button
        type="button"
        ref={anchor}
        class="tip-anchor"
        aria-describedby={open ? id : undefined}
        onMouseEnter={() => setOpen(true)}
        onMouseLeave={() => setOpen(false)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || !open) return;
          event.preventDefault();
          setOpen(false);
        }}
      >
        {children}
      </button>
      {open && (
        <span role="tooltip" id={id} ref={box} class="tip-box">
          {hint}
        </span>
      )}
    </span>
  );
}

/** Puts a fixed box above or below a rectangle of the window, wholly within it. */
export function placeBeside(box: HTMLElement, anchor: { left: number; top: number; bottom: number; width: number }): void {
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(8, Math.min(innerWidth - width - 8, anchor.left + anchor.width / 2 - width / 2));
  const above = anchor.top - height - 6;
  box.style.left = `${left}px`;
  box.style.top = `${above >= 8 ? above : Math.min(anchor.bottom + 6, innerHeight - height - 8)}px`;
}
