/** Scroll position of a container, in CSS pixels. */
export type ScrollPosition = { scrollTop: number; scrollHeight: number; clientHeight: number };
export type PinState = { isPinned: boolean; showsJump: boolean };

const showJumpAbove = 200;
const hideJumpBelow = 60;
const pinBelow = 24;

/**
 * Whether the thread follows its end. Only the person's own movement decides: upwards unpins at once, reaching the end
 * pins again. Content that grows or shrinks never changes it.
 */
export class ScrollPin {
  #state: PinState = { isPinned: true, showsJump: false };
  #lastTop = 0;
  #lastHeight = 0;

  get state(): PinState {
    return this.#state;
  }

  /** A wheel, touch, key or selection that moves upwards, before the scroll event comes. */
  moveUp(position: ScrollPosition): PinState {
    const canMove = position.scrollHeight > position.clientHeight;
    return canMove ? this.#set(false, this.#jump(distance(position), false)) : this.#state;
  }

  /** Handles a scroll event of the person or of the page. */
  scroll(position: ScrollPosition): PinState {
    const left = distance(position);
    const grew = position.scrollHeight !== this.#lastHeight;
    const movedUp = position.scrollTop < this.#lastTop - 1 && !grew;
    const movedDown = position.scrollTop > this.#lastTop + 1;
    this.#lastTop = position.scrollTop;
    this.#lastHeight = position.scrollHeight;
    const isPinned = movedUp ? left <= 1 : this.#state.isPinned || (movedDown && left <= pinBelow);
    return this.#set(isPinned, this.#jump(left, isPinned));
  }

  /** The content changed its size. True: scroll to the end now. */
  grow(position: ScrollPosition): boolean {
    this.#lastHeight = position.scrollHeight;
    this.#set(this.#state.isPinned, this.#jump(distance(position), this.#state.isPinned));
    return this.#state.isPinned;
  }

  /** Records a programmatic scroll; its scroll event doesn't have to be passed to `scroll`. */
  reached(scrollTop: number): void {
    this.#lastTop = scrollTop;
  }

  /** Pins after "Jump to latest" or an own message. */
  pin(): PinState {
    return this.#set(true, false);
  }

  #jump(left: number, isPinned: boolean): boolean {
    if (isPinned || left < hideJumpBelow) return false;
    return left > showJumpAbove || this.#state.showsJump;
  }

  #set(isPinned: boolean, showsJump: boolean): PinState {
    if (isPinned !== this.#state.isPinned || showsJump !== this.#state.showsJump) this.#state = { isPinned, showsJump };
    return this.#state;
  }
}

function distance(position: ScrollPosition): number {
  return position.scrollHeight - position.clientHeight - position.scrollTop;
}
