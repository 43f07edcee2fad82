//! The formats that bootlap itself writes, shared by the host, the lab's probe
//! and the agent. The agent's side is C (`agent/src`); both sides' tests read the
//! same golden bytes.
//!
//! | module | what | who writes it |
//! | --- | --- | --- |
//! | [`stamps`] | a console with the time of each byte | the probe, `bootlap capture` |
//! | [`archive`] | what `bootlap-agent collect` saw | the agent |
//! | [`pack`] | which bytes of which files a boot reads | `bootlap-agent record`, `bootlap pack` |
//! | [`plan`] | the order of init scripts | `bootlap rc` |
//! | [`splash`] | a picture as the screen stores it | `bootlap splash`, `bootlap-agent splash` |

pub mod archive;
pub mod bytes;
pub mod pack;
pub mod plan;
pub mod splash;
pub mod stamps;
