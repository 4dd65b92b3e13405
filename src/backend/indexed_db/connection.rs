//! The way to the database: opened when it is first needed, let go when another tab wants to
//! change its layout, opened anew afterwards. Nothing here waits for ever: an open that another
//! tab blocks ends in an error. A database that the browser took away is told of once, since
//! what it held is gone; the call after that begins a new one.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::Function;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction, IdbVersionChangeEvent};

use crate::backend::indexed_db::schema::Rest;
use crate::backend::indexed_db::transaction::{Transaction, failed};
use crate::backend::indexed_db::{INSTEAD, schema, torn_log, version1};
use crate::cell::RefCell;
use crate::env::dom::{self, Slot};
use crate::env::{host, timer};
use crate::error::{Error, Kind, Result};
use crate::lock::Mutex;

/// Whether a commit waits until the disk has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It does.
    Strict,
    /// It is enough that the operating system has it.
    Relaxed,
}

/// What a transaction may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Look.
    Read,
    /// Change.
    Write,
}

/// A database by name.
pub struct Connection {
    name: String,
    durability: Durability,
    patience: Duration,
    /// Whether the browser's log is to be renewed before it is written to.
    guarded: bool,
    opening: Mutex<()>,
    state: Rc<RefCell<State>>,
}

enum State {
    Closed,
    Open(Rc<Open>),
    /// It was taken away, in words.
    Lost(&'static str),
}

/// An open database. It is closed when the last transaction that needs it has begun.
struct Open {
    database: IdbDatabase,
    _version_change: Closure<dyn FnMut(IdbVersionChangeEvent)>,
    _close: Closure<dyn FnMut()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.database.set_onversionchange(None);
        self.database.set_onclose(None);
        self.database.close();
    }
}

impl Connection {
    /// The way to that database; an open may take so long.
    pub fn new(name: &str, durability: Durability, patience: Duration) -> Connection {
        Connection {
            guarded: true,
            ..Connection::unguarded(name, durability, patience)
        }
    }

    /// The same, for what is written as a guard against a torn log.
    pub fn unguarded(name: &str, durability: Durability, patience: Duration) -> Connection {
        Connection {
            name: name.to_owned(),
            durability,
            patience,
            guarded: false,
            opening: Mutex::new(()),
            state: Rc::new(RefCell::new(State::Closed)),
        }
    }

    /// Begins a transaction over those stores. The first request must follow at once.
    pub async fn begin(&self, mode: Mode, stores: &[&str]) -> Result<Transaction> {
        let mut again = true;
        loop {
            let open = self.open().await?;
            if mode == Mode::Write && self.guarded {
                torn_log::renew().await;
            }
            match self.transaction(&open.database, mode, stores) {
                Ok(transaction) => return Ok(Transaction::new(transaction)),
                // It was closed under our hands; what closed it is told at the next open.
                Err(error) if again && host::name_of(&error) == "InvalidStateError" => {
                    again = false;
                    self.let_go(&open);
                }
                Err(error) if host::name_of(&error) == "NotFoundError" => {
                    return Err(strange(&self.name));
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    fn transaction(
        &self,
        database: &IdbDatabase,
        mode: Mode,
        stores: &[&str],
    ) -> std::result::Result<IdbTransaction, JsValue> {
        let names: js_sys::Array = stores.iter().map(|name| JsValue::from_str(name)).collect();
        let mode = match mode {
            Mode::Read => "readonly",
            Mode::Write => "readwrite",
        };
        let durability = match self.durability {
            Durability::Strict => "strict",
            Durability::Relaxed => "relaxed",
        };
        // By name, since the method with three arguments is not in web-sys yet.
        let begin: Function =
            js_sys::Reflect::get(database, &JsValue::from_str("transaction"))?.dyn_into()?;
        begin
            .call3(
                database,
                &names,
                &JsValue::from_str(mode),
                &host::object(&[("durability", JsValue::from_str(durability))]),
            )
            .map(JsCast::unchecked_into)
    }

    fn let_go(&self, open: &Rc<Open>) {
        let mut state = self.state.borrow_mut();
        if matches!(&*state, State::Open(now) if Rc::ptr_eq(now, open)) {
            *state = State::Closed;
        }
    }

    async fn open(&self) -> Result<Rc<Open>> {
        if let State::Open(open) = &*self.state.borrow() {
            return Ok(open.clone());
        }
        let _turn = self.opening.lock().await;
        {
            let mut state = self.state.borrow_mut();
            match &*state {
                State::Open(open) => return Ok(open.clone()),
                State::Lost(why) => {
                    let why = *why;
                    *state = State::Closed;
                    return Err(Error::new(
                        Kind::Unavailable,
                        format!("The IndexedDB database '{}' {why}", self.name),
                    ));
                }
                State::Closed => {}
            }
        }
        let opening = Opening::begin(&self.name)?;
        let database = opening.wait(&self.name, self.patience).await?;
        let open = Rc::new(watched(database, Rc::downgrade(&self.state)));
        *self.state.borrow_mut() = State::Open(open.clone());
        if self.guarded {
            torn_log::renew_later();
        }
        Ok(open)
    }
}

/// Listens for what takes a database away.
fn watched(database: IdbDatabase, state: Weak<RefCell<State>>) -> Open {
    let replace = move |state: &Weak<RefCell<State>>, new: State| {
        if let Some(state) = state.upgrade() {
            let before = state.replace(new);
            // Dropped outside the borrow: it closes the database.
            drop(before);
        }
    };
    let held = state.clone();
    let version_change = Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(
        move |event: IdbVersionChangeEvent| {
            let new = match event.new_version() {
                Some(_) => State::Closed,
                None => State::Lost(
                    "was deleted by another tab; what it held is gone. Call again to begin a new one",
                ),
            };
            replace(&held, new);
        },
    );
    let close = Closure::<dyn FnMut()>::new(move || {
        replace(
            &state,
            State::Lost(
                "was closed by the browser, which may have evicted what it held. Call again to go on with what is there",
            ),
        );
    });
    database.set_onversionchange(Some(version_change.as_ref().unchecked_ref()));
    database.set_onclose(Some(close.as_ref().unchecked_ref()));
    Open {
        database,
        _version_change: version_change,
        _close: close,
    }
}

/// What happens to an open.
enum Event {
    /// The database is of the first layout, and its records are to be carried over now.
    CarryOver,
    /// It is open.
    Opened,
    /// It could not be opened.
    Refused,
}

/// An open under way. Given up, it closes what it may still get.
struct Opening {
    request: IdbOpenDbRequest,
    happened: Slot<Event>,
    blocked: Rc<Cell<bool>>,
    strange: Rc<Cell<bool>>,
    taken: Cell<bool>,
    _listeners: [Closure<dyn FnMut(IdbVersionChangeEvent)>; 4],
}

impl Opening {
    fn begin(name: &str) -> Result<Opening> {
        let factory: IdbFactory = match dom::global("indexedDB") {
            Ok(Some(factory)) => factory.unchecked_into(),
            Ok(None) => {
                return Err(Error::new(
                    Kind::Unavailable,
                    format!("There is no IndexedDB (globalThis.indexedDB) here. {INSTEAD}."),
                ));
            }
            Err(thrown) => return Err(refused(thrown)),
        };
        let request = factory
            .open_with_u32(name, schema::VERSION)
            .map_err(refused)?;
        let happened: Slot<Event> = Slot::default();
        let blocked = Rc::new(Cell::new(false));
        let strange = Rc::new(Cell::new(false));
        let answer = |event: fn() -> Event| {
            let happened = happened.clone();
            Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(move |_| happened.fill(event()))
        };
        let (success, error) = (answer(|| Event::Opened), answer(|| Event::Refused));
        let block = {
            let blocked = blocked.clone();
            Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(move |_| blocked.set(true))
        };
        let upgrade = {
            let (request, happened, strange) = (request.clone(), happened.clone(), strange.clone());
            Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(move |event: IdbVersionChangeEvent| {
                let Some(transaction) = request.transaction() else {
                    return;
                };
                let rest = request.result().and_then(|database| {
                    // A float-to-integer cast saturates.
                    let from = event.old_version() as u32;
                    schema::prepare(database.unchecked_ref(), &transaction, from)
                });
                match rest {
                    Ok(Rest::Nothing) => {}
                    Ok(Rest::Version1) => happened.fill(Event::CarryOver),
                    Ok(Rest::Strange) => {
                        strange.set(true);
                        let _ = transaction.abort();
                    }
                    Err(_) => {
                        let _ = transaction.abort();
                    }
                }
            })
        };
        request.set_onsuccess(Some(success.as_ref().unchecked_ref()));
        request.set_onerror(Some(error.as_ref().unchecked_ref()));
        request.set_onblocked(Some(block.as_ref().unchecked_ref()));
        request.set_onupgradeneeded(Some(upgrade.as_ref().unchecked_ref()));
        Ok(Opening {
            request,
            happened,
            blocked,
            strange,
            taken: Cell::new(false),
            _listeners: [success, error, block, upgrade],
        })
    }

    async fn wait(&self, name: &str, patience: Duration) -> Result<IdbDatabase> {
        let happened = Box::pin(self.happened.wait());
        let event = match select(happened, timer::sleep(patience)).await {
            // From here on it is at work, and no longer waiting for anybody.
            Either::Left((Event::CarryOver, _)) => {
                self.carry_over().await?;
                self.happened.wait().await
            }
            Either::Left((event, _)) => event,
            Either::Right(_) => {
                let waited = patience.as_millis();
                let why = if self.blocked.get() {
                    "another tab holds an older version of it open; close that tab or reload it"
                } else {
                    "the browser did not answer; try again, or reload the page"
                };
                return Err(Error::new(
                    Kind::Unavailable,
                    format!(
                        "The IndexedDB database '{name}' could not be opened within {waited} ms: {why}"
                    ),
                ));
            }
        };
        self.taken.set(true);
        if matches!(event, Event::Opened) {
            let database = self.request.result().map_err(refused)?;
            return Ok(database.unchecked_into());
        }
        if self.strange.get() {
            return Err(strange(name));
        }
        let error = self.request.error().ok().flatten();
        Err(refused(error.map_or(JsValue::UNDEFINED, JsValue::from)))
    }

    /// Given up meanwhile, the transaction is aborted, and the database is what it was.
    async fn carry_over(&self) -> Result<()> {
        let database = self.request.result().map_err(refused)?;
        let Some(transaction) = self.request.transaction() else {
            return Err(Error::internal("An upgrade has no transaction"));
        };
        let transaction = Transaction::new(transaction);
        version1::carry_over(database.unchecked_ref(), &transaction).await?;
        transaction.commit().await
    }
}

/// The refusal of a database that somebody else has made.
fn strange(name: &str) -> Error {
    Error::new(
        Kind::Unavailable,
        format!(
            "The IndexedDB database '{name}' was made by something else than kitbag; choose another name for it"
        ),
    )
}

impl Drop for Opening {
    fn drop(&mut self) {
        let request = &self.request;
        request.set_onsuccess(None);
        request.set_onerror(None);
        request.set_onblocked(None);
        request.set_onupgradeneeded(None);
        if self.taken.get() {
            return;
        }
        let late = request.clone();
        let close = Closure::once_into_js(move || {
            if let Ok(database) = late.result() {
                database.unchecked_into::<IdbDatabase>().close();
            }
        });
        request.set_onsuccess(Some(close.unchecked_ref()));
        let late = request.clone();
        let abort = Closure::once_into_js(move || {
            if let Some(transaction) = late.transaction() {
                let _ = transaction.abort();
            }
        });
        request.set_onupgradeneeded(Some(abort.unchecked_ref()));
    }
}

fn refused(exception: JsValue) -> Error {
    dom::failure("IndexedDB could not be opened", INSTEAD, exception)
}
